import { trace, type Tracer } from '@opentelemetry/api';
import packageJson from '../package.json' with { type: 'json' };

/**
 * What makes spans. Without an OpenTelemetry SDK in the process they cost next to nothing and go nowhere.
 *
 * The controller brings the API alone, and of that an older minor version on purpose: an SDK registers itself on a symbol that all copies of the API
 * share, and a copy passes over one that was registered by an older minor version than its own, without a word. By 1.9 both SDK 2 (which brings 1.9)
 * and SDK 3 (1.10) are met.
 * Source: https://github.com/open-telemetry/opentelemetry-js/blob/main/api/src/internal/semver.ts
 */
export function tracer(): Tracer {
  // Not kept: one that was made before an SDK is there would never see it, where the SDK has another copy of the API.
  return trace.getTracer('plumbline', packageJson.version);
}
