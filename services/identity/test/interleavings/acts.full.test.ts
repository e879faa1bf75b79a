import { listSets } from '@platform/testing';
import { startIdentityActs } from './acting.js';
import { agentActs, memberActs, signInActs, tokenActs } from './acts.js';

const acting = await startIdentityActs();
afterAll(() => acting.close());

const acts = { ...memberActs, ...signInActs, ...tokenActs, ...agentActs };
type Name = keyof typeof acts;

const sets = listSets<Name>(Object.keys(acts) as Name[], [
  ['Ada demotes Bert', 'Bert demotes Ada'],
  ['Ada removes Bert', 'Bert demotes Ada'],
  ['Ada leaves', 'Bert demotes Ada'],
  ['Ada removes Bert', 'Bert removes Ada'],
  ['Ada leaves', 'Bert leaves'],
  ['Ada demotes Bert', 'Bert promotes himself'],
  ['Ada withdraws the invitation', 'Ida accepts the invitation'],
  ['Ida accepts the invitation', 'Ida accepts the invitation'],
  ['Bert removes Cem', 'Cem signs in'],
  ['Bert removes Cem', 'Cem creates a token'],
  ['Cem creates a token by a key', 'Cem creates a token by a key'],
  ['Bert removes the group', 'Ada adds Bert to the group'],
  ['Cem signs in', 'Cem resets the password'],
  ['Cem signs in', 'Cem changes the password'],
  ['Cem signs in', 'Bert requires second factors'],
  ['Cem resets the password', 'Cem resets the password'],
  ['the token creates another one', 'Cem revokes the token'],
  ['Cem rotates the token', 'Cem revokes the token'],
  ['Cem rotates the token', 'the token rotates itself'],
  ['Cem rotates the token at once', 'the token creates another one'],
  ['Cem revokes the token alone', 'tokens expire'],
  ['tokens expire', 'Cem rotates the token', 'Ada revokes the child'],
  ['Ada creates a token of the account', 'Bert removes the account'],
  ['the agent refreshes', 'Cem disconnects the agent'],
  ['the agent refreshes', 'the agent refreshes'],
  ['the agent refreshes', 'Ada removes the application'],
  ['the token subscribes', 'Cem revokes the token'],
  ['the token subscribes again', 'the token unsubscribes'],
]);

test.each(sets.map((names) => [names.join(', '), names] as const))('OPS-30: %s', async (_title, names) => {
  const { tried, refused } = await acting.explore(names, acts);
  expect(tried).toBeGreaterThan(0);
  // Something that never happened would be no exploration.
  expect(refused).toEqual([]);
});
