import type { Move } from './moves.ts';
import type { World } from './world.ts';

export interface Rules {
  readonly moves: (world: World) => readonly Move[];
  /** What is wrong with a move. */
  readonly violation: (world: World, move: Move) => string | undefined;
  readonly isAtEnd: (world: World) => boolean;
}

export interface Exploration {
  readonly states: number;
  /** What was found wrong first, with the shortest way to it. */
  readonly problem: string | undefined;
}

interface Node {
  readonly world: World;
  readonly key: string;
  readonly from: Node | undefined;
  readonly what: string;
  /** Numbers of the nodes that lead here without a fault. */
  readonly calmBefore: number[];
  /** Numbers of the nodes that the controller leads to. */
  readonly steps: number[];
  isEnd: boolean;
}

/**
 * Searches breadth-first over everything that can happen. Wrong is a move that breaks a rule, and a state from which the end cannot be reached
 * though nothing goes wrong any more.
 */
export function explore(start: World, { moves, violation, isAtEnd }: Rules): Exploration {
  const numbers = new Map<string, number>();
  const nodes: Node[] = [];
  const numberOf = (world: World, from: Node | undefined, what: string): number => {
    const key = JSON.stringify(world);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, nodes.length);
    nodes.push({ world, key, from, what, calmBefore: [], steps: [], isEnd: isAtEnd(world) });
    return nodes.length - 1;
  };
  numberOf(start, undefined, 'at the start');
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i] as Node;
    for (const move of moves(node.world)) {
      const wrong = violation(node.world, move);
      if (wrong !== undefined) return { states: nodes.length, problem: tell(wrong, node, move.what) };
      const to = numberOf(move.to, node, move.what);
      if (!move.isFault) nodes[to]?.calmBefore.push(i);
      if (move.step !== undefined) node.steps.push(to);
    }
  }
  const lost = withoutEnd(nodes);
  if (lost !== undefined) return { states: nodes.length, problem: tell('the end is never reached', lost, '') };
  const restless = inCircles(nodes);
  return { states: nodes.length, problem: restless && tell('the controller goes round in circles', restless, '') };
}

/** The first state from which no end can be reached. */
function withoutEnd(nodes: readonly Node[]): Node | undefined {
  const reached = new Uint8Array(nodes.length);
  const open = nodes.flatMap(({ isEnd }, i) => (isEnd ? [i] : []));
  for (const i of open) reached[i] = 1;
  for (let i = open.pop(); i !== undefined; i = open.pop()) {
    for (const before of nodes[i]?.calmBefore ?? []) {
      if (reached[before] === 1) continue;
      reached[before] = 1;
      open.push(before);
    }
  }
  return nodes.find((_, i) => reached[i] === 0);
}

/** The first state that a step of the controller leads away from and that comes again though nothing goes wrong. */
function inCircles(nodes: readonly Node[]): Node | undefined {
  const circles = circlesOf(nodes.map(({ calmBefore }) => calmBefore));
  return nodes.find(({ steps }, i) => steps.some((to) => to !== i && circles[to] === circles[i]));
}

/** A number for each node, the same for those that lead to each other: Tarjan's algorithm, without recursion. */
function circlesOf(edges: readonly (readonly number[])[]): Int32Array {
  const order = new Int32Array(edges.length).fill(-1);
  const low = new Int32Array(edges.length);
  const circle = new Int32Array(edges.length).fill(-1);
  const path: number[] = [];
  let count = 0;
  for (let root = 0; root < edges.length; root++) {
    if (order[root] !== -1) continue;
    const open: [node: number, next: number][] = [[root, 0]];
    while (open.length > 0) {
      const top = open[open.length - 1] as [number, number];
      const [node, next] = top;
      if (next === 0) {
        order[node] = low[node] = count++;
        path.push(node);
      }
      const to = edges[node]?.[next];
      top[1]++;
      if (to !== undefined) {
        if (order[to] === -1) open.push([to, 0]);
        else if (circle[to] === -1) low[node] = Math.min(low[node] as number, order[to] as number);
        continue;
      }
      open.pop();
      const above = open.at(-1)?.[0];
      if (above !== undefined) low[above] = Math.min(low[above] as number, low[node] as number);
      if (low[node] !== order[node]) continue;
      for (let member = path.pop(); member !== undefined; member = path.pop()) {
        circle[member] = node;
        if (member === node) break;
      }
    }
  }
  return circle;
}

function tell(wrong: string, node: Node, last: string): string {
  const path: string[] = last === '' ? [] : [last];
  for (let at: Node | undefined = node; at !== undefined; at = at.from) path.unshift(at.what);
  return [`${wrong}:`, ...path, JSON.stringify(node.world)].join('\n  ');
}
