import { createTexts } from '../isolate.ts';

/** What words mean, by the words as the screens have them. */
export const glossary = createTexts({
  'Limited to':
    'Beside its permissions, it can be limited to some MCP servers, tools or connectors. It can never do more than whom it acts for.',
  'Allowed addresses': 'It is refused from every other network address.',
  'Created by': 'A token can create others that may do no more than itself. They end when it is revoked.',
  Permissions: 'A tool or request that needs another one is refused.',
  'Redirect URIs': 'The only addresses that the browser is sent back to after a sign-in.',
  'How it proves who it is':
    'With a secret, with a signature of its own key, or not at all where it can keep no secret.',
  'The most it can get': 'Whoever allows it can give it less, and never more than they may do themselves.',
  Issuer: 'The address by which the provider calls itself in what it signs. It must match exactly.',
  'Just-in-time membership':
    'Whoever the provider signs in becomes a member with the first sign-in, without an invitation.',
  'External id': 'The name of the group at the directory that keeps its members.',
  Mode: 'A full crawl reads the whole source, an incremental one what has changed since the last crawl.',
  'Its lease ends':
    'A worker claims a run for a short time and keeps renewing it. When it stops, another worker gets the run.',
  'Slices done':
    'A long crawl is cut into parts. A part that is done is not crawled again when the run goes on elsewhere.',
  'How the platform identifies itself':
    'With one secret for everybody, with the key of each person, or with a sign-in of each person at that server.',
  'Use of a rotated token after its end': 'Whoever still uses it may have copied it.',
});
