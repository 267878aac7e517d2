import type { Figures } from '../figures.ts';
import { drawPanel, height, width, type Line, type Panel } from './panel.ts';

const columns = 3;
const margin = 12;
const [blue, orange, green, grey] = ['#1f6fd1', '#d2691e', '#2e8b57', '#7a7a7a'];

const style = `text { font: 11px system-ui, sans-serif; fill: #333 } .title { font-weight: 600; font-size: 12px } .grid { stroke: #ddd }`;

/** How each figure grows with the number of databases, as SVG. Pure: the same figures give the same bytes. */
export function drawPicture(stages: readonly Figures[]): string {
  const panels = panelsOf(stages);
  const rows = Math.ceil(panels.length / columns);
  const size = { width: columns * width + 2 * margin, height: rows * height + 2 * margin };
  const drawn = panels.map((panel, place) => {
    const [x, y] = [margin + (place % columns) * width, margin + Math.floor(place / columns) * height];
    return `<g transform="translate(${x} ${y})">\n${drawPanel(panel)}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="How the figures of the controller grow with the number of databases">`,
    `<style>${style}</style>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function panelsOf(stages: readonly Figures[]): readonly Panel[] {
  const line = (name: string, colour: string, value: (figures: Figures) => number | undefined): Line => ({
    name,
    colour,
    points: stages.flatMap((figures) => {
      const [x, y] = [figures['databases'], value(figures)];
      return x === undefined || y === undefined || !Number.isFinite(y) ? [] : [{ x, y }];
    }),
  });
  const figure = (name: string, colour: string, key: string): Line => line(name, colour, (figures) => figures[key]);
  const floor = line('plain loop', grey, ({ floorSeconds = NaN }) => 1000 * floorSeconds);
  return [
    {
      title: 'Creation, ms for each database',
      lines: [
        line('Plumbline', blue, ({ createdSeconds = NaN, created = NaN }) => (1000 * createdSeconds) / created),
        { ...floor, isDashed: true },
      ],
    },
    {
      title: 'Memory of the controller, MiB',
      lines: [
        figure('peak', orange, 'peakMiB'),
        figure('at rest', blue, 'restingMiB'),
        figure('restarted', green, 'restartedMiB'),
      ],
    },
    { title: 'Restart, s until nothing is left to do', lines: [figure('Plumbline', blue, 'restartSeconds')] },
    {
      title: 'An edit while others are created, ms',
      lines: [figure('median', blue, 'editMedianMs'), figure('p95', orange, 'editP95Ms')],
    },
    {
      title: 'Delay of the event loop, p99, ms',
      lines: [figure('creation', blue, 'eventLoopP99Ms'), figure('beside edits', orange, 'eventLoopWhileEditedP99Ms')],
    },
    {
      title: 'Processor, ms for each creation',
      lines: [
        figure('controller', blue, 'controllerCpuMs'),
        figure('API server', orange, 'apiServerCpuMs'),
        figure('etcd', green, 'etcdCpuMs'),
      ],
    },
  ];
}
