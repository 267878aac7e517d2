import { Type } from 'typebox';
import { patterns } from '../patterns.ts';
import { Peer } from './access.ts';

export const Monitoring = Type.Object(
  {
    enabled: Type.Boolean({
      description:
        'true: an exporter of PostgreSQL runs in each member, at port 9187, and it and the metrics of Patroni, at port 8008, may be scraped.',
    }),
    from: Type.Optional(
      Type.Array(Peer('Who may scrape.'), {
        description: 'NetworkPolicy peers that may scrape. Default: every pod of the same namespace.',
        minItems: 1,
        maxItems: 32,
        'x-kubernetes-list-type': 'atomic',
      }),
    ),
    image: Type.Optional(
      Type.String({
        description:
          'Container image of postgres_exporter, instead of the one that belongs to the version of the renderer: for a registry of your own, or a newer release.',
        minLength: 1,
        maxLength: 512,
        pattern: patterns.image,
      }),
    ),
  },
  {
    description:
      'Metrics for Prometheus. A change of it restarts the members, but for `from`. Default: {enabled: false}.',
  },
);
