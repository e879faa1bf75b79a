import { negotiateResponseForm } from './response-form.js';

test.each([
  [undefined, 'json'],
  ['', 'json'],
  [' , ', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['application/*, text/*', 'json'],
  ['APPLICATION/JSON', 'json'],
  ['application/json;charset=utf-8;q=0.5', 'json'],
  ['text/html, */*;q=0.1', 'json'],
  ['application/json, text/event-stream', 'either'],
  ['text/event-stream,application/json', 'either'],
  ['Application/JSON, TEXT/Event-Stream', 'either'],
  ['text/event-stream, */*', 'either'],
  ['application/json;q=0.1, text/event-stream ; Q=1', 'either'],
  ['application/json, text/event-stream;q=x', 'either'],
  ['application/json, text/event-stream;q=0', 'json'],
  ['*/*, text/event-stream;q=0.0', 'json'],
  ['text/event-stream', 'stream'],
  ['text/*', 'stream'],
  ['text/event-stream, application/json;q=0', 'stream'],
  ['application/*;q=0, */*', 'stream'],
])('Accept: %s negotiates %s', (accept, form) => {
  expect(negotiateResponseForm(accept)).toBe(form);
});

test.each(['text/html', 'image/*', '*/*;q=0', 'application/json;q=0', 'text/event-stream;q=0', 'x'])(
  'Accept: %s fails with 406, because it accepts neither form',
  (accept) => {
    expect(() => negotiateResponseForm(accept)).toThrow(expect.objectContaining({ statusCode: 406 }));
  },
);
