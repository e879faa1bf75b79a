import { ambiguousMessages, findMisreading } from '@platform/testing';
import { useGateway } from './use-gateway.js';

const gateway = useGateway();

test.each(Object.entries(ambiguousMessages))(
  'OPS-55: of %s, a service gets one request or none',
  async (_what, message) => {
    expect(await findMisreading(gateway.port, message, () => gateway.identity.targets)).toBeUndefined();
  },
);
