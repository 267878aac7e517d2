import { readFileSync } from 'node:fs';
import type { ImageConfig } from './archive.ts';

/** What the last stage of a Dockerfile says about running the image, so that both builds agree. */
export function readConfig(dockerfile: string): ImageConfig {
  const text = readFileSync(dockerfile, 'utf8');
  const stage = text.slice(text.lastIndexOf('\nFROM '));
  const all = (instruction: string): string[] =>
    [...stage.matchAll(new RegExp(`^${instruction} (.+)$`, 'gm'))].map(([, rest = '']) => rest);
  const list = (instruction: string): string[] | undefined => {
    const [words] = all(instruction);
    return words === undefined ? undefined : (JSON.parse(words) as string[]);
  };
  const [user = ''] = all('USER');
  return { User: user, Env: all('ENV'), Entrypoint: list('ENTRYPOINT'), Cmd: list('CMD') };
}
