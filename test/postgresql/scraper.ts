import { execInPod, type PodCluster } from '../cluster/index.ts';

/** What a pod got from an address; undefined where it could not connect. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

const program = `import json, sys, urllib.error, urllib.request
url, method = sys.argv[1:]
request = urllib.request.Request(url, method=method, data=None if method == "GET" else b"{}")
try:
    with urllib.request.urlopen(request, timeout=15) as answer:
        print(json.dumps({"status": answer.status, "body": answer.read().decode()}))
except urllib.error.HTTPError as error:
    print(json.dumps({"status": error.code, "body": error.read().decode()}))
except OSError:
    print("null")
`;

/** Asks from inside a pod that has Python, such as a resting one. */
export async function askFrom(
  cluster: PodCluster,
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
  url: string,
  method: 'GET' | 'POST' | 'PATCH' = 'GET',
): Promise<Answer | undefined> {
  const command = ['python3', '-', url, method];
  const { code, stdout, stderr } = await execInPod(cluster.kubeconfig, { namespace, pod }, command, program);
  if (code !== 0) throw new Error(`${method} ${url} from ${pod}: ${stderr}`);
  return (JSON.parse(stdout) as Answer | null) ?? undefined;
}
