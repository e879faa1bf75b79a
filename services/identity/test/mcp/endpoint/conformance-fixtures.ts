import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';

/*
 * The demands of the conformance suite beyond tools with structured content: other content, prompts, resources,
 * and tools that ask their client for something. The platform has none of these. They stand behind its own transport,
 * which then has to carry everything that the protocol has.
 */

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const;
const toText = (text: string) => ({ type: 'text', text }) as const;
const embedded = (uri: string, mimeType: string, text: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text } }) as const;
const said = (text: string): CallToolResult => ({ content: [toText(text)] });

type Result = CallToolResult | InputRequiredResult;
type Call = (context: ServerContext) => Result | Promise<Result>;

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
const state = createRequestStateCodec<{ round: number }>({ key: 'k'.repeat(32) });
/** The round that the client has answered; 0: none. */
async function getRound(context: ServerContext): Promise<number> {
  const given = context.mcpReq.requestState<string>();
  if (given === undefined) return 0;
  try {
    return (await state.verify(given, context)).round;
  } catch {
    throw invalid('The state is not one of this server');
  }
}

const elicit = (message: string, name: string) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] } }); // oxfmt-ignore
const sample = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: toText(text) }], maxTokens });
const answered = ({ mcpReq }: ServerContext, key: string): boolean =>
  mcpReq.inputResponses?.[key] !== undefined;
const declares = ({ mcpReq }: ServerContext, capability: string): boolean => {
  const envelope = mcpReq.envelope as Record<string, Record<string, unknown> | undefined> | undefined;
  return envelope?.['io.modelcontextprotocol/clientCapabilities']?.[capability] !== undefined;
};

/** Asks once, and is done when it was answered. */
const asking = (key: string, request: ReturnType<typeof elicit>): Call => (context) =>
  answered(context, key) ? said(JSON.stringify(context.mcpReq.inputResponses?.[key])) : inputRequired({ inputRequests: { [key]: request } }); // oxfmt-ignore

/** Asks in rounds, each with the state of the one before. */
const inRounds =
  (...rounds: Record<string, ReturnType<typeof elicit>>[]): Call =>
  async (context) => {
    const round = await getRound(context);
    const inputRequests = rounds[round];
    if (!inputRequests) return said('state-ok');
    return inputRequired({ inputRequests, requestState: await state.mint({ round: round + 1 }, context) });
  };

const confirm = { confirm: elicit('Please confirm', 'ok') };

export const fixtureTools: Readonly<Record<string, Call>> = {
  test_image_content: () => ({ content: [image] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  }),
  test_multiple_content_types: () => ({
    content: [toText('Multiple content types test:'), image, embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')],
  }), // oxfmt-ignore
  test_missing_capability: (context) => {
    if (declares(context, 'sampling')) return said('ok');
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  test_streaming_elicitation: asking('user_name', elicit('What is your name?', 'name')),
  test_logging_tool: async ({ mcpReq }) => {
    // oxlint-disable-next-line typescript/no-deprecated -- the suite asks whether it is kept from clients that don't want it
    await mcpReq.log('info', 'working');
    return said('done');
  },
  test_input_required_result_elicitation: (context) => {
    const { name } = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, 'user_name') ?? {};
    if (typeof name === 'string') return said(`Hello, ${name}!`);
    return inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } });
  },
  test_input_required_result_sampling: asking('capital_question', sample('What is the capital of France?', 100)),
  test_input_required_result_list_roots: asking('client_roots', inputRequired.listRoots()),
  test_input_required_result_request_state: inRounds(confirm),
  test_input_required_result_tampered_state: inRounds(confirm),
  test_input_required_result_multiple_inputs: inRounds({
    user_name: elicit('What is your name?', 'name'),
    greeting: sample('Generate a greeting', 50),
    client_roots: inputRequired.listRoots(),
  }),
  test_input_required_result_multi_round: inRounds(
    { step1: elicit('Step 1: What is your name?', 'name') },
    { step2: elicit('Step 2: What is your favorite color?', 'color') },
  ),
  test_input_required_result_capabilities: (context) => {
    const inputRequests = {
      ...(declares(context, 'sampling') && { greeting: sample('Generate a greeting', 50) }),
      ...(declares(context, 'elicitation') && { user_name: elicit('What is your name?', 'name') }),
    };
    return inputRequired({ inputRequests });
  },
}; // oxfmt-ignore

interface Prompt {
  readonly arguments?: { name: string; required: boolean }[];
  get(args: Readonly<Record<string, string>>, context: ServerContext): GetPromptResult | InputRequiredResult;
}
const needed = (...names: string[]) => names.map((name) => ({ name, required: true }));
const saying = (...content: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
  messages: content.map((part) => ({ role: 'user', content: part })),
});

const prompts: Readonly<Record<string, Prompt>> = {
  test_simple_prompt: { get: () => saying(toText('This is a simple prompt for testing.')) },
  test_prompt_with_arguments: {
    arguments: needed('arg1', 'arg2'),
    get: ({ arg1, arg2 }) => saying(toText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  },
  test_prompt_with_embedded_resource: {
    arguments: needed('resourceUri'),
    get: ({ resourceUri = '' }) => saying(embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'), toText('Please process the embedded resource above.')),
  },
  test_prompt_with_image: { get: () => saying(image, toText('Please analyze the image above.')) },
  test_input_required_result_prompt: {
    get: (_args, context) => {
      if (answered(context, 'user_context')) return saying(toText('With that context.'));
      return inputRequired({ inputRequests: { user_context: elicit('What context should the prompt use?', 'context') } });
    },
  },
}; // oxfmt-ignore

export const listPrompts = () => ({
  prompts: Object.entries(prompts).map(([name, prompt]) => ({
    name,
    description: 'For the conformance suite.',
    ...(prompt.arguments && { arguments: prompt.arguments }),
  })),
});

export function getPrompt(name: string, args: Readonly<Record<string, string>>, context: ServerContext) {
  const prompt = prompts[name];
  if (!prompt) throw invalid('Unknown prompt');
  return prompt.get(args, context);
}

const resource = (name: string, mimeType: string) => ({ uri: `test://${name}`, name, description: 'For the conformance suite.', mimeType }); // oxfmt-ignore
const contents: Readonly<Record<string, object>> = {
  'test://static-text': { text: 'This is the content of the static text resource.' },
  'test://static-binary': { blob: PNG },
  'test://watched-resource': { text: 'Watched.' },
};
const resources = [
  resource('static-text', 'text/plain'),
  resource('static-binary', 'image/png'),
  resource('watched-resource', 'text/plain'),
];

export const listResources = () => ({ resources });
export const listTemplates = () => ({
  resourceTemplates: [
    { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
  ],
});

export function readResource(uri: string) {
  const [, id] = /^test:\/\/template\/(\w+)\/data$/.exec(uri) ?? [];
  const content = id === undefined ? contents[uri] : { text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }; // oxfmt-ignore
  if (!content) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri });
  const { mimeType = 'application/json' } = resources.find((known) => known.uri === uri) ?? {};
  return { contents: [{ uri, mimeType, ...content } as { uri: string; mimeType: string; text: string }] };
}
