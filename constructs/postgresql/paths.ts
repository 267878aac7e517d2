/** Where things lie in the containers. */
export const paths = {
  /** The data volume. */
  volume: '/data',
  /** PostgreSQL's data directory: one level below the mount, whose root belongs to the file system. */
  data: '/data/pgdata',
  /** Scripts and start-up configuration. */
  scripts: '/etc/plumbline',
  /** Secret with the password of the owner. */
  credentials: '/etc/plumbline-secrets/credentials',
  /** Secret with the passwords of the system. */
  system: '/etc/plumbline-secrets/system',
  /** Secret with the certificate and its key. */
  tls: '/etc/plumbline-secrets/tls',
  /** What the pod is asked for, as files that follow its annotations. */
  asked: '/etc/plumbline-asked',
  /** In memory: the composed configuration of Patroni, with its passwords. */
  run: '/run/plumbline',
  /** In memory: the certificate and its key that PostgreSQL reads. */
  served: '/run/plumbline/tls',
  /** In memory: what the exporter logs in with. */
  monitoring: '/run/plumbline-monitoring',
  /** Where Kubernetes mounts the token of the ServiceAccount. */
  token: '/var/run/secrets/kubernetes.io/serviceaccount',
  /** Unix socket of PostgreSQL; where `psql` looks by default in Debian's and in Red Hat's packages. */
  socket: '/run/postgresql',
  /** The volume of backups. */
  backup: '/backup',
} as const;
