import { createHook } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { keepTickShape } from './tick-shape.js';

test('one of the objects of nextTick outlives a collection, so that V8 keeps their shape', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const ticks: WeakRef<object>[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'TickObject') ticks.push(new WeakRef(resource));
    },
  }).enable();
  keepTickShape();
  process.nextTick(() => undefined);
  hook.disable();
  await nextTurn();
  collectGarbage();
  expect(ticks.length).toBeGreaterThanOrEqual(2);
  expect(ticks.filter((tick) => tick.deref() !== undefined)).toHaveLength(1);
});
