import { context, propagation, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';

/** OpenTelemetry's own SDK in this process; it keeps all spans that end, until it is disposed of. */
export class RecordedSpans implements Disposable {
  readonly #exporter = new InMemorySpanExporter();

  constructor() {
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] }).register();
  }

  get ended(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  [Symbol.dispose](): void {
    for (const api of [trace, context, propagation]) api.disable();
  }
}
