/** Returns whether clients can register themselves, as the metadata of the authorization server says (RFC 8414). */
export async function hasRegistration(): Promise<boolean> {
  const response = await fetch('/.well-known/oauth-authorization-server/oauth2', {
    credentials: 'same-origin',
  });
  if (!response.ok) throw new Error(`the metadata was answered with ${response.status}`);
  return 'registration_endpoint' in ((await response.json()) as object);
}
