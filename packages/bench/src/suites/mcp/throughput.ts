import { alternate } from '../../load/alternate.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { startProgram } from '../../servers/process.js';
import { loadWith, startEndpoint } from './endpoint.js';

export const throughput = defineMeasurement({
  title: 'tools/list and tools/call against a server object per request',
  limitSeconds: 150,
  values: {
    list_vs_per_request_server: {
      bar: { min: 10 },
      note: 'tools/list: identity / a new McpServer per request',
    },
    call_vs_per_request_server: {
      bar: { min: 10 },
      note: 'tools/call: identity / a new McpServer per request',
    },
    list: { unit: '/s', note: 'tools/list with a token, liveness read from PostgreSQL each time' },
    call: { unit: '/s', note: 'tools/call of whoami with a token' },
  },
  async run(fixture) {
    const identity = await fixture.share(startEndpoint);
    const { tokens } = identity;
    const common = fixture.keep(await startProgram(new URL('per-request-server.js', import.meta.url)));
    const { rate, ratio } = await alternate(
      fixture,
      { rounds: 3, warmUpSeconds: 2 },
      {
        list: (seconds) => loadWith(identity, tokens, 'list', { seconds }),
        commonList: (seconds) => loadWith(common, tokens, 'list', { seconds }),
        call: (seconds) => loadWith(identity, tokens, 'call', { seconds }),
        commonCall: (seconds) => loadWith(common, tokens, 'call', { seconds }),
      },
    );
    return {
      list_vs_per_request_server: ratio('list', 'commonList'),
      call_vs_per_request_server: ratio('call', 'commonCall'),
      list: rate('list'),
      call: rate('call'),
    };
  },
});
