/** One line of a panel. */
export interface Line {
  readonly name: string;
  readonly colour: string;
  /** What is not ours: a floor, or what is wanted. Defaults to false. */
  readonly isDashed?: boolean;
  readonly points: readonly Point[];
}

export interface Point {
  /** Databases. */
  readonly x: number;
  readonly y: number;
}

export interface Panel {
  /** With the unit. */
  readonly title: string;
  readonly lines: readonly Line[];
}

export const width = 300;
export const height = 236;
const plot = { left: 44, right: 14, top: 50, bottom: 40 };
const right = width - plot.right;
const bottom = height - plot.bottom;

/** A panel as SVG, its left upper corner at 0,0: the number of databases grows by factors, what is measured from 0. */
export function drawPanel({ title, lines }: Panel): string {
  const points = lines.flatMap((line) => line.points);
  const counts = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b);
  const top = niceAbove(Math.max(...points.map(({ y }) => y)));
  const x = scaleX(counts);
  const y = (value: number): number => bottom - (value / top) * (bottom - plot.top);
  return [
    text(plot.left, 16, title, 'class="title"'),
    ...legend(lines),
    ...[0, 0.25, 0.5, 0.75, 1].map((part) => gridLine(top * part, y(top * part))),
    ...counts.map((count) => text(x(count), bottom + 16, grouped(count), 'text-anchor="middle"')),
    text(right, bottom + 30, 'databases', 'text-anchor="end"'),
    ...lines.map((line) => drawLine(line, x, y)),
  ].join('\n');
}

function drawLine({ colour, isDashed = false, points }: Line, x: Scale, y: Scale): string {
  const places = points.map((point) => `${fixed(x(point.x))},${fixed(y(point.y))}`);
  const dash = isDashed ? ' stroke-dasharray="5 4"' : '';
  const path = `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`;
  const dots = isDashed ? [] : points.map((point) => dot(x(point.x), y(point.y), colour, point));
  return [path, ...dots].join('\n');
}

function dot(x: number, y: number, colour: string, point: Point): string {
  const told = `${grouped(point.x)} databases: ${short(point.y)}`;
  return `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="4" fill="${colour}"><title>${told}</title></circle>`;
}

function legend(lines: readonly Line[]): readonly string[] {
  const step = (right - plot.left) / Math.max(3, lines.length);
  return lines.map(({ name, colour, isDashed = false }, place) => {
    const x = plot.left + place * step;
    const dash = isDashed ? ' stroke-dasharray="4 3"' : '';
    const line = `<line x1="${fixed(x)}" x2="${fixed(x + 14)}" y1="30" y2="30" stroke="${colour}" stroke-width="2"${dash}/>`;
    return `${line}\n${text(x + 18, 34, name)}`;
  });
}

function gridLine(value: number, y: number): string {
  const line = `<line x1="${plot.left}" x2="${right}" y1="${fixed(y)}" y2="${fixed(y)}" class="grid"/>`;
  return `${line}\n${text(plot.left - 6, y + 4, short(value), 'text-anchor="end"')}`;
}

type Scale = (value: number) => number;

function scaleX(counts: readonly number[]): Scale {
  const [low = 1, high = 1] = [counts[0], counts.at(-1)];
  const inset = 24;
  const room = right - plot.left - 2 * inset;
  if (low === high) return () => plot.left + inset + room / 2;
  return (count) => plot.left + inset + (room * Math.log(count / low)) / Math.log(high / low);
}

/** The next of 1, 2, 4, 6, 8, 10, 20 …, whose quarters are short to write. */
function niceAbove(value: number): number {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return unit * ([1, 2, 4, 6, 8].find((step) => step * unit >= value) ?? 10);
}

function text(x: number, y: number, content: string, more = ''): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}"${more === '' ? '' : ` ${more}`}>${content}</text>`;
}

/** Three digits at the most. */
export function short(value: number): string {
  return grouped(Number(value.toPrecision(3)));
}

export function grouped(value: number): string {
  return value.toLocaleString('en');
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}
