import { type IdentityUnderTest, serviceClient } from './identity.js';

/** Asks about a token as another service of the platform does. */
export async function introspect({ call }: Pick<IdentityUnderTest, 'call'>, token: string) {
  const basic = Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64');
  const { body } = await call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${basic}` },
  });
  const answer = await call('POST', '/api/v1/oauth2/introspect', {
    token: body.access_token as string,
    body: { tokens: [token] },
  });
  return answer.body.results[0];
}
