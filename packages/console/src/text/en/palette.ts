import { createTexts } from '../isolate.ts';

/** The texts of the palette. */
export const palette = createTexts({
  placeholder: 'A screen, an action, a token, a member, a connector',
  results: 'Results',
  actions: 'Actions',
  places: 'Screens',
  tokens: 'Tokens',
  members: 'Members',
  connectors: 'Connectors',
  nothing: 'Nothing matches. Names, owners and addresses are searched.',
  newToken: 'Create a token',
  newGroup: 'Create a group',
  invite: 'Invite a member',
  schedule: 'Schedule a connector',
  newAccount: 'Create a service account',
  newApplication: 'Register an application',
  newEndpoint: 'Register a crawl endpoint',
  newServer: 'Add an MCP server',
  newDestination: 'Add a destination of events',
  suppress: 'Suppress an address',
});
