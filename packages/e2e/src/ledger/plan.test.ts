import { FAULT_KINDS, LINKS, planFaults, PROCESSES, renderPlan } from './plan.js';

const hour = { seconds: 3_600, calmSeconds: 25 };

test('OPS-40 the same seeds have the same plan, and others have another', () => {
  expect(renderPlan(planFaults([7, 8], hour))).toBe(renderPlan(planFaults([7, 8], hour)));
  const first = (seed: number) => planFaults([seed], hour).map(({ kind, target }) => `${kind} ${target}`);
  expect(new Set([1, 2, 3, 4, 5].map((seed) => first(seed).join())).size).toBe(5);
});

test('OPS-40 a seed has the same faults whichever seeds come before it, in its own part of the time', () => {
  const alone = planFaults([2], { seconds: 60, calmSeconds: 8 });
  const second = planFaults([1, 2, 3], { seconds: 180, calmSeconds: 8 }).filter(({ seed }) => seed === 2);
  expect(second).toEqual(alone.map((fault) => ({ ...fault, atSeconds: fault.atSeconds + 60 })));
  for (const { atSeconds, seconds } of second) {
    expect(atSeconds).toBeGreaterThanOrEqual(60);
    expect(atSeconds + seconds + 8).toBeLessThanOrEqual(120);
  }
});

test('OPS-41 an hour has every kind of fault, at every process, and pauses of up to 40 seconds', () => {
  const faults = planFaults([3], hour);
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(FAULT_KINDS));
  const targets = new Set(faults.map(({ target }) => target));
  for (const name of PROCESSES) expect(targets).toContain(name);
  const pauses = faults.filter(({ kind }) => kind === 'pause').map(({ seconds }) => seconds);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(40);
  expect(
    faults.filter(({ kind }) => kind === 'half-open').every(({ target }) => LINKS.includes(target)),
  ).toBe(true);
});

test('OPS-40 every kind comes once before one comes again', () => {
  const kinds = planFaults([11], hour).map(({ kind }) => kind);
  const count = FAULT_KINDS.length;
  for (let at = 0; at + count <= kinds.length; at += count)
    expect(new Set(kinds.slice(at, at + count)).size).toBe(count);
});

test('OPS-41 a fault never begins before the one before it is over', () => {
  const faults = planFaults([1, 2, 20261130], { seconds: 170, calmSeconds: 8 });
  for (const [index, { atSeconds, seconds }] of faults.entries())
    expect(faults[index + 1]?.atSeconds ?? 170).toBeGreaterThanOrEqual(atSeconds + seconds + 8);
  expect(faults.length).toBeGreaterThan(6);
});
