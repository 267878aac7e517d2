/** Tells a person how long work is under way. */
export interface Progress {
  line(text: string): void;
  /** Runs some work and says at its end how long it took; on a terminal also meanwhile. */
  during<T>(what: string, work: () => Promise<T>): Promise<T>;
}

/** @param onLine receives whole lines; without it they go to standard error, which is kept up to date each second if it is a terminal */
export function createProgress(onLine?: (line: string) => void): Progress {
  const terminal = onLine === undefined && process.stderr.isTTY ? process.stderr : undefined;
  const line = onLine ?? ((text: string): void => void process.stderr.write(`${text}\n`));
  return {
    line,
    async during(what, work) {
      const begin = performance.now();
      const seconds = (): string => `${Math.round((performance.now() - begin) / 1000)} s`;
      const show = (): void => void terminal?.write(`\r${what} … ${seconds()}`);
      const ticker = setInterval(show, 1000).unref();
      show();
      try {
        const result = await work();
        terminal?.write('\r\x1b[K');
        line(`${what}: ${seconds()}`);
        return result;
      } catch (error) {
        terminal?.write('\n');
        throw error;
      } finally {
        clearInterval(ticker);
      }
    },
  };
}
