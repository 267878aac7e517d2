/** What a heap keeps of its item: where it stands, so that it can be taken out without a search. */
export interface HeapItem {
  /** Written by the heap alone; -1 while the item is in no heap. */
  heapIndex: number;
}

/** A binary heap: `push`, `pop` and `remove` of any item cost O(log n) comparisons, `first` none. */
export class Heap<T extends HeapItem> {
  readonly #isBefore: (left: T, right: T) => boolean;
  readonly #items: T[] = [];

  constructor(isBefore: (left: T, right: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Takes out an item of this heap. */
  remove(item: T): void {
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      const settled = this.#rise(last, item.heapIndex);
      this.#sink(last, settled);
    }
    item.heapIndex = -1;
  }

  clear(): void {
    for (const item of this.#items) item.heapIndex = -1;
    this.#items.length = 0;
  }

  #rise(item: T, from: number): number {
    let index = from;
    while (index > 0) {
      const parent = this.#items[(index - 1) >> 1];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      const parentIndex = parent.heapIndex;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(item, index);
    return index;
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#firstChild(index);
      if (child === undefined || !this.#isBefore(child, item)) break;
      const childIndex = child.heapIndex;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(item, index);
  }

  #firstChild(index: number): T | undefined {
    const left = this.#items[2 * index + 1];
    const right = this.#items[2 * index + 2];
    if (left === undefined || right === undefined) return left;
    return this.#isBefore(right, left) ? right : left;
  }

  #put(item: T, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
