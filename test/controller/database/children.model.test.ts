import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Children } from '../../../controller/database/children.ts';
import type { KubeObject } from '../../../controller/kube/index.ts';
import { changed, disowned } from '../drift/live.ts';
import { live, resource, statedOf } from './given.ts';

const service = statedOf(resource(), 'Service/orders');
const right = live(service);
const edited = disowned(changed(right, ['spec', 'selector'], { app: 'x' }), ['f:spec', 'f:selector']);

/** Steps of the world. `answer`: the answer to our last apply arrives; `show`: the watch delivers its next event. */
const step = fc.constantFrom('apply', 'answer', 'edit', 'touch', 'delete', 'show', 'show');
type Step = 'apply' | 'answer' | 'edit' | 'touch' | 'delete' | 'show';

/** An API server with one Service, a watch that lags, and a controller whose answers may arrive late. */
class World {
  readonly children = new Children((_, change) => this.wakes.push(change));
  readonly wakes: string[] = [];
  readonly #events: { readonly object: KubeObject; readonly isDeletion: boolean }[] = [];
  #answer: KubeObject | undefined;
  #version = 100;
  #lives = 0;
  now: KubeObject | undefined;

  take(one: Step): void {
    switch (one) {
      case 'apply':
        // One after the other, as a reconcile does it.
        if (this.#answer === undefined) this.#answer = this.#write(right);
        return;
      case 'answer':
        if (this.#answer !== undefined) this.children.accept(this.#answer, service.hash);
        this.#answer = undefined;
        return;
      case 'edit':
        if (this.now !== undefined) this.#write(edited);
        return;
      case 'touch':
        if (this.now !== undefined) this.#write({ ...this.now, status: { version: this.#version } });
        return;
      case 'delete':
        if (this.now !== undefined) this.#events.push({ object: this.now, isDeletion: true });
        this.now = undefined;
        return;
      case 'show':
        return this.#show();
    }
  }

  settle(): void {
    while (this.#events.length > 0) this.#show();
    this.take('answer');
  }

  #write(object: KubeObject): KubeObject {
    if (this.now === undefined) this.#lives++;
    const metadata = { ...object.metadata, uid: `life-${this.#lives}`, resourceVersion: String(++this.#version) };
    this.now = { ...object, metadata };
    this.#events.push({ object: this.now, isDeletion: false });
    return this.now;
  }

  #show(): void {
    const event = this.#events.shift();
    if (event === undefined) return;
    const { uid = '' } = event.object.metadata;
    if (event.isDeletion) this.children.delete('Service', 'shop/orders', { uid, isSeen: true });
    else this.children.upsert(event.object);
  }
}

test('however edits, deletions, answers and a lagging watch interleave, in the end what is known is what is', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const world = new World();
      for (const one of steps) world.take(one);
      world.settle();
      const child = world.children.get(service.key);
      assert.equal(child?.uid, world.now?.metadata.uid);
      if (child === undefined || world.now === undefined) return;
      assert.equal(child.resourceVersion, world.now.metadata.resourceVersion);
      const isEdited = JSON.stringify(world.now['spec']) !== JSON.stringify(right['spec']);
      // Never taken for true while it is not; and if it is not, the whole of it is at hand.
      if (isEdited) assert.equal(child.suspect?.metadata.resourceVersion, child.resourceVersion);
      if (child.suspect === undefined) assert.equal(child.accepted?.fingerprint, child.fingerprint);
    }),
    { numRuns: 3000 },
  );
});

test('what an answer has settled stays settled by the echo of it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const world = new World();
      for (const one of steps) world.take(one);
      world.settle();
      world.take('apply');
      world.take('answer');
      world.wakes.length = 0;
      world.settle();
      assert.equal(world.children.get(service.key)?.suspect, undefined);
      assert.deepEqual(world.wakes, []);
    }),
    { numRuns: 3000 },
  );
});
