import { createServer } from 'node:http';

/*
 * A receiver of facts and events. It answers at once, except below /dead, where it never does; GET returns when it received
 * each subject, or event, in milliseconds since the epoch.
 */

const receivedAt = new Map<string, number>();

const server = createServer((request, response) => {
  if (request.url?.startsWith('/dead')) {
    request.resume();
    return;
  }
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([...receivedAt]));
    return;
  }
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    const { eventId, data, challenge } = JSON.parse(text) as {
      eventId?: string;
      data?: { subjectId: string };
      challenge?: string;
    };
    // Logs are received and forgotten.
    if (data) receivedAt.set(eventId ?? data.subjectId, Date.now());
    response.writeHead(200).end(challenge && JSON.stringify({ challenge }));
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => {
  console.log('ready');
});
