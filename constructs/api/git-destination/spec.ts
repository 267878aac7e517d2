import { Type, type Static } from 'typebox';
import type { DeepReadonly } from '../deep-readonly.ts';
import { objectName } from '../kubernetes-schema.ts';
import { patterns } from '../patterns.ts';

const secretName = (description: string) => Type.String({ ...objectName, description });

/** The spec of a GitDestination. Defaults are the controller's. */
export const Spec = Type.Object(
  {
    url: Type.String({
      description:
        'The repository, without a user name, password or token in it, such as https://git.example/databases.git. Of ssh, the user belongs to it: ssh://git@git.example/databases.git or git@git.example:databases.git.',
      minLength: 1,
      maxLength: 1024,
      pattern: patterns.gitUrl,
    }),
    branch: Type.Optional(
      Type.String({
        description: 'The branch that is committed to; it is made if there is none. Default: main.',
        minLength: 1,
        maxLength: 200,
        pattern: patterns.gitBranch,
        'x-kubernetes-validations': [
          { rule: "!self.matches('[.]lock(/|$)')", message: 'must not have a part that ends with .lock' },
        ],
      }),
    ),
    pullRequest: Type.Optional(
      Type.Object(
        {
          branch: Type.Optional(
            Type.String({
              description:
                'The branch that is committed to instead, such as plumbline/<cluster>. `<cluster>` is what the controller was told by --cluster-name. Default: `plumbline/<cluster>/` and the name of the GitDestination.',
              minLength: 1,
              maxLength: 200,
              pattern: patterns.gitReviewBranch,
              'x-kubernetes-validations': [
                { rule: "!self.matches('[.]lock(/|$)')", message: 'must not have a part that ends with .lock' },
              ],
            }),
          ),
          pushOptions: Type.Optional(
            Type.Array(
              Type.String({
                description: 'One option, such as merge_request.create.',
                minLength: 1,
                maxLength: 255,
                pattern: patterns.printable,
              }),
              {
                description:
                  'What the server is told with each push (git push --push-option), as GitLab understands it: with [merge_request.create, merge_request.target=main] it opens the merge request. Default: nothing.',
                minItems: 1,
                maxItems: 16,
              },
            ),
          ),
        },
        {
          description:
            'Changes wait on a branch of their own until people merge it into the other one; {} is enough. Default: they are pushed to that at once.',
        },
      ),
    ),
    path: Type.Optional(
      Type.String({
        description:
          'The folder of a database. `<cluster>` is what the controller was told by --cluster-name. Default: `clusters/<cluster>/<namespace>/<name>/`.',
        minLength: 1,
        maxLength: 512,
        pattern: patterns.gitPath,
      }),
    ),
    namespaces: Type.Optional(
      Type.Array(
        Type.String({
          description: 'Name of a namespace.',
          minLength: 1,
          maxLength: 63,
          pattern: patterns.dnsLabel,
        }),
        {
          description: 'Whose databases may be delivered here. Default: those of all namespaces.',
          minItems: 1,
          maxItems: 256,
        },
      ),
    ),
    credentials: Type.Optional(
      Type.Object(
        {
          secretName: secretName(
            "A Secret in the controller's namespace, such as git-login. For https: password, which may be a token, and perhaps username (git without it) and ca.crt. For ssh: ssh-privatekey, without a passphrase, and known_hosts, without which no server is talked to. For a GitHub App: private-key.pem, and perhaps ca.crt.",
          ),
          githubApp: Type.Optional(
            Type.Object(
              {
                appId: Type.String({
                  description: 'Its ID or client ID, in quotes, such as "123456".',
                  minLength: 1,
                  maxLength: 64,
                  pattern: patterns.githubApp,
                }),
                installationId: Type.String({
                  description:
                    'The number behind /installations/ in the URL of its settings, in quotes, such as "7654321".',
                  minLength: 1,
                  maxLength: 20,
                  pattern: patterns.digits,
                }),
                apiUrl: Type.Optional(
                  Type.String({
                    description:
                      'Where its tokens come from, such as https://github.example/api/v3. Default: https://api.github.com.',
                    minLength: 1,
                    maxLength: 1024,
                    pattern: patterns.apiUrl,
                  }),
                ),
              },
              {
                description:
                  'The GitHub App that the key in the Secret is of. For its key the controller is given a token, which holds for an hour and may do no more than write the contents of this repository. Default: none.',
              },
            ),
          ),
        },
        {
          description: 'What the server lets the controller in by. A change counts at once. Default: nothing.',
        },
      ),
    ),
    author: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'Name.', minLength: 1, maxLength: 128, pattern: patterns.gitIdentity }),
          email: Type.String({
            description: 'Address.',
            minLength: 3,
            maxLength: 254,
            pattern: patterns.mailAddress,
          }),
        },
        { description: 'Who the commits are by. Default: {name: Plumbline, email: plumbline@localhost}.' },
      ),
    ),
    signingKey: Type.Optional(
      Type.Object(
        {
          secretName: secretName(
            "A Secret in the controller's namespace, such as git-signing-key, that each commit is signed with: its pgp-privatekey, as gpg --armor --export-secret-keys writes it, and perhaps pgp-passphrase; or else its ssh-privatekey, without a passphrase.",
          ),
        },
        { description: 'What the commits are signed with. Default: nothing.' },
      ),
    ),
    windowSeconds: Type.Optional(
      Type.Integer({
        description: 'How long changes are gathered for one commit. Default: 1.',
        minimum: 0,
        maximum: 600,
      }),
    ),
  },
  {
    description: 'Where to, and as whom.',
    'x-kubernetes-validations': [
      {
        rule: "!has(self.credentials) || !(self.url.startsWith('http://') || self.url.startsWith('file://'))",
        message: 'goes with a URL of https or ssh only',
        fieldPath: '.credentials',
      },
      {
        rule: "!has(self.credentials) || !has(self.credentials.githubApp) || self.url.startsWith('https://')",
        message: 'goes with a URL of https only',
        fieldPath: '.credentials.githubApp',
      },
      {
        rule: "!has(self.pullRequest) || !has(self.pullRequest.branch) || self.pullRequest.branch != (has(self.branch) ? self.branch : 'main')",
        message: 'must be another branch than the one that it is to be merged into',
        fieldPath: '.pullRequest.branch',
      },
    ],
  },
);

/** The spec as a user writes it. */
export type GitDestinationSpec = DeepReadonly<Static<typeof Spec>>;
