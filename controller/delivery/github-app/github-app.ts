/** A GitHub App that is installed where the repository is. */
export interface GitHubApp {
  /** Its ID or client ID. */
  readonly appId: string;
  readonly installationId: string;
  /** PEM. */
  readonly privateKey: string;
  /** Where the REST API is, without a slash at its end. */
  readonly apiUrl: string;
  /** Name of the repository, without its owner: the token is for no other one. */
  readonly repository: string;
  /** PEM of the authorities that the API's certificate may come from. Defaults to those of Node. */
  readonly certificateAuthority?: string | undefined;
}

export const defaultApiUrl = 'https://api.github.com';

/** The repository's name in a URL such as https://github.com/team/databases.git. */
export function repositoryIn(url: string): string {
  const { pathname } = new URL(url);
  return decodeURIComponent(pathname.split('/').findLast((part) => part !== '') ?? '').replace(/\.git$/, '');
}
