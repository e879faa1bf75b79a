import pg from 'pg';

/** Connects to a server as its administrator; the caller ends the connection. */
export async function connectAdmin(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A server that goes away breaks the statement that is running; the event would break the process too.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Runs one piece of work over a separate connection. */
export async function withAdmin<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = await connectAdmin(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
