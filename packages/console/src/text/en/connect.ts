import { createTexts } from '../isolate.ts';

/** The texts of the screen that connects agents. */
export const connect = createTexts({
  title: 'Connect an agent',
  intro: 'An agent that connects here acts for you: it sees what you may see, and does what you allow it.',
  address: 'The address',
  addressHint: 'Of the remote tools, for every client of the Model Context Protocol (Streamable HTTP).',
  client: 'Choose your client',
  oauth: 'Sign in with the browser',
  oauthHint: 'No secret to keep: the client opens your browser, and you choose what it may do.',
  token: 'With a token',
  tokenHint: 'For what cannot open a browser. Put the token in the variable PLATFORM_TOKEN.',
  createToken: 'Create a token',
  noToken: (client: string) => `${client} takes no tokens: it signs in with the browser.`,
  noOauth: (client: string) => `${client} cannot open a browser. Put a token in the variable PLATFORM_TOKEN.`,
  private: (client: string, host: string) =>
    `${client} connects from the internet, where ${host} cannot be reached. The platform needs a public address.`,
  needsRegistration: (client: string) =>
    `${client} registers itself, and this platform has registration turned off. An administrator can register an application for it under Applications; its client id goes into the settings of ${client}. A token works as well.`,
  code: (client: string) => `${client}: sign in with the browser`,
  tokenCode: (client: string) => `${client}: with a token`,
  program: (client: string) => `${client}: the program`,
  steps: {
    claude: [
      'Open Settings, Connectors, “Add custom connector”.',
      'Give it a name and the address above. Leave the advanced settings empty.',
      'Press “Connect”, sign in here and choose what Claude may do.',
    ],
    chatgpt: [
      'Turn on developer mode: Settings, Apps and connectors, Advanced settings.',
      'Under Apps and connectors press “Create”: a name, the address above, authentication “OAuth”.',
      'Sign in here and choose what ChatGPT may do.',
    ],
  },
  hints: {
    'claude-code': 'The second line opens the browser. Inside Claude Code, /mcp lists the tools.',
    codex: 'It opens the browser at once. “codex mcp login platform” repeats the sign-in.',
    'vs-code':
      'For .vscode/mcp.json. Press “Start” above the entry; VS Code asks whether the server may sign in.',
    cursor: 'For ~/.cursor/mcp.json. Then press “Connect” in Settings, Tools & MCP.',
    python: 'Save the program below as agent.py. It prints an address to open.',
    typescript: 'Save the program below as agent.mjs. It prints an address to open.',
  },
  tokenHints: {
    shell: 'In single quotes, the token stays out of the configuration: the client reads the variable.',
    codex: 'The client reads the variable whenever it starts.',
    'vs-code': 'For .vscode/mcp.json. VS Code asks for the token when it first connects, and keeps it.',
    cursor: 'For ~/.cursor/mcp.json. Cursor reads the variable when it starts.',
    program: 'The program reads the variable.',
    curl: 'It calls the tool whoami, which says whom the token acts for.',
  },
  live: {
    title: 'Is it connected?',
    waiting: 'Waiting for the first call… In your client, ask “who am I?”.',
    waitingAgain: 'Waiting for a call… In your client, ask “who am I?”.',
    last: (client: string, tool: string) => `Before: ${client} called ${tool}`,
    called: (client: string, tool: string) => `${client} called ${tool}`,
    refused: (client: string, tool: string, reason: string) => `${client} was refused ${tool}: ${reason}`,
    failed: (client: string, tool: string) => `${client} called ${tool}, which failed`,
    open: 'What it may do',
    unnamed: 'An agent',
  },
});
