import { readFile } from 'node:fs/promises';
import type { KubeConfig, User } from '@kubernetes/client-node';

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0];

/** Name of the `authProvider` of users whose token is read from a file. */
export const TOKEN_FILE = 'plumbline-token-file';

/** The same user with its token read from `file`, which then wins over a token in the kubeconfig, as in client-go. */
export function withTokenFile(user: User, file: string): User {
  const { token: _, ...rest } = user;
  return { ...rest, authProvider: { name: TOKEN_FILE, config: { path: file } } };
}

/**
 * Puts the token of a file into the request. It reads the file each time: how long a token is kept is decided in one
 * place, for all kinds of credentials (see Credentials). client-node's own FileAuth keeps it for 60 s and can't be told
 * that the server refused it (https://github.com/kubernetes-client/javascript/issues/1240).
 */
export const tokenFileAuthenticator: Authenticator = {
  isAuthProvider: (user) => pathOf(user) !== undefined,
  applyAuthentication: async (user, options) => {
    const path = pathOf(user);
    if (path === undefined) return;
    const token = (await readFile(path, 'utf8')).trim();
    if (token === '') throw new Error(`the token file ${path} is empty`);
    options.headers = { ...options.headers, Authorization: `Bearer ${token}` };
  },
};

function pathOf(user: User | null): string | undefined {
  return user?.authProvider?.name === TOKEN_FILE ? String(user.authProvider.config.path) : undefined;
}
