/** Does the work of each index below `count`, so many at a time. */
export async function inParallel(
  loops: number,
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: loops }, async () => {
      for (let i = next++; i < count; i = next++) await work(i);
    }),
  );
}
