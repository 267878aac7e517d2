import { hash } from 'node:crypto';
import { classify, type Clock } from '../kube/index.ts';
import { Lru } from '../runtime/lru.ts';

/** Why somebody may not read. */
export interface Refusal {
  readonly status: 401 | 403 | 500 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether a request with this Authorization header may go on; undefined: it may. Never rejects. */
export type Gate = (authorization: string | undefined) => Promise<Refusal | undefined>;

/** Who a token is of, as a TokenReview tells. */
export interface User {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The API server as a judge. Each throws a KubeError where it gives no verdict. */
export interface Reviews {
  /** @returns undefined for a token that is none, or none any more */
  userOf(token: string): Promise<User | undefined>;
  mayRead(user: User, path: string): Promise<boolean>;
}

export interface TokenGateOptions {
  readonly reviews: Reviews;
  /** What is read, such as `/metrics`. */
  readonly path: string;
  /** Measures durations. */
  readonly clock: Clock;
  /** Told why the API server gave no verdict. */
  readonly onError: (error: unknown) => void;
}

/** How long a verdict is taken for true, in milliseconds: a scraper comes every few seconds, and a right that is taken away must not linger. */
const allowedForMs = 60_000;
const refusedForMs = 10_000;
const mostRemembered = 256;
/** Whoever sends made-up tokens must not take the API server's time. */
const mostAtOnce = 8;
/** What the API server itself takes is far shorter. */
const longestToken = 16_384;

/**
 * A gate for bearer tokens, as kube-rbac-proxy and controller-runtime have it (filters.WithAuthenticationAndAuthorization): a TokenReview says whose a token is, a
 * SubjectAccessReview whether that one may `get` the path. Verdicts are remembered for a short time, by a hash of the token.
 */
export function tokenGate(options: TokenGateOptions): Gate {
  const { clock, onError } = options;
  const verdicts = new Lru<{ readonly refusal: Refusal | undefined; readonly until: number }>(mostRemembered);
  const underWay = new Map<string, Promise<Refusal | undefined>>();

  const judged = async (token: string, key: string): Promise<Refusal | undefined> => {
    try {
      const refusal = await judge(token, options);
      const until = clock.now() + (refusal === undefined ? allowedForMs : refusedForMs);
      verdicts.set(key, { refusal, until });
      return refusal;
    } catch (error) {
      onError(error);
      return classify(error).class === 'back-off' ? away : noVerdict;
    } finally {
      underWay.delete(key);
    }
  };

  return async (authorization) => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined || token.length > longestToken) return unauthenticated;
    const key = hash('sha256', token, 'base64url');
    const known = verdicts.get(key);
    if (known !== undefined && clock.now() < known.until) return known.refusal;
    const running = underWay.get(key);
    if (running !== undefined) return running;
    if (underWay.size >= mostAtOnce) return busy;
    const verdict = judged(token, key);
    underWay.set(key, verdict);
    return verdict;
  };
}

async function judge(token: string, { reviews, path }: TokenGateOptions): Promise<Refusal | undefined> {
  const user = await reviews.userOf(token);
  if (user === undefined) return unauthenticated;
  return (await reviews.mayRead(user, path)) ? undefined : forbidden;
}

const unauthenticated: Refusal = {
  status: 401,
  message: 'unauthorized: a bearer token of this cluster is needed',
  headers: { 'www-authenticate': 'Bearer' },
};
const forbidden: Refusal = { status: 403, message: 'forbidden: the right to get this path is needed' };
const busy: Refusal = {
  status: 503,
  message: 'too many tokens are being asked about',
  headers: { 'retry-after': '1' },
};
const away: Refusal = { status: 503, message: 'the API server cannot be asked about the token' };
const noVerdict: Refusal = { status: 500, message: 'the API server gave no verdict about the token' };
