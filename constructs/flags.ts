/** What the commands about a folder of specs have in common, for `parseArgs`. */
export const specFlags = {
  specs: { type: 'string', default: 'examples' },
  output: { type: 'string', default: 'dist' },
  standalone: { type: 'boolean', default: false },
} as const;

/**
 * The flags that this process was started with. Where help is asked for, it prints the usage and ends the process with 0; where `read` throws, with
 * 2, after what is wrong and the usage.
 */
export function readFlags<Flags>(usage: string, read: () => Flags): Flags {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    process.stdout.write(usage);
    process.exit(0);
  }
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}
