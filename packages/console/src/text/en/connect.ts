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
  attempts: {
    title: 'How far it has come',
    allIntro:
      'The latest attempts of members to connect an agent by signing in, and the step at which each is stuck. They are kept for 14 days.',
    allEmptyTitle: 'Nobody has tried to connect an agent',
    allEmptyAdvice:
      'An attempt appears here once its member has signed in. What came before that is shown on the member’s own screen.',
    of: (client: string) => `Sign-in of ${client}`,
    unnamed: 'a client',
    member: 'the member',
    told: (advice: string) => `What they are told: ${advice}`,
    stuck: (who: string) => `Up to ${who}`,
    failed: (who: string) => `Refused; up to ${who}`,
    who: {
      client: 'the client',
      you: 'you',
      administrator: 'an administrator',
      platform: 'the platform',
    },
    reached: 'done',
    steps: {
      challenge: 'Asked for the tools',
      metadata: 'Read how to sign in',
      registration: 'Registered itself',
      authorize: 'Opened the browser',
      consent: 'Asked for consent',
      code: 'Was allowed',
      token: 'Got its token',
      call: 'Called a tool',
    },
    missing: {
      challenge: 'It has not asked for the tools yet.',
      metadata:
        'It was told that it has to sign in, and has not asked how. A client that cannot sign in with a browser needs a token.',
      registration: 'It has not registered itself yet.',
      authorize:
        'It knows how to sign in, and has not opened the browser yet. Start the sign-in in the client, or open the address that it prints.',
      authorizeUnregistered:
        'It has not opened the browser yet. A client that has to register itself cannot go on, because registration is turned off here: use a token, or have an administrator register an application.',
      consent: 'The browser was opened. Sign in there, and answer the question.',
      code: 'The question is in your browser: choose what it may do, and press “Allow”.',
      token:
        'You allowed it, and it has not fetched its token. It may have stopped waiting: start the sign-in again in the client.',
      call: 'It is connected. Ask it “who am I?”.',
    },
    faults: {
      invalid_client:
        'The platform does not know this client: its document cannot be read, its host is not allowed, or its registration is gone. Let the client register again; an administrator can allow its host, or register an application.',
      unauthorized_client:
        'This client may not sign in this way. An administrator can change its application.',
      invalid_redirect_uri:
        'The address that the answer would go to is not one of the client’s. An administrator can add it to its application.',
      invalid_redirect_uri_registration:
        'It registered an address that is not allowed: https, or one of its own machine.',
      invalid_scope: 'It asked for a permission that does not exist here.',
      invalid_target: 'It asked for another address than the one above. Copy that into the client.',
      invalid_request: 'Its request was incomplete. A newer version of the client may help.',
      invalid_grant: 'Its code had expired or was used before. Start the sign-in again in the client.',
      temporarily_unavailable: 'The platform could not answer in time. Try again in a minute.',
      denied: 'You denied it. Start the sign-in again in the client to change that.',
      nothing_allowed:
        'Your role and the rules of the organisation leave none of the permissions that it asked for.',
      other: (fault: string) => `The platform refused it: ${fault}`,
    },
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
