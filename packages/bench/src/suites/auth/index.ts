import type { Suite } from '../../runner/measurement.js';
import { growth } from './growth.js';
import { issuance, oauthVerification } from './oauth.js';
import { millionTokens, verification } from './verification.js';

export const authSuite: Suite = {
  name: 'auth',
  title: 'verification and issuance of tokens, and how they grow with their number',
  isPinned: true,
  measurements: [oauthVerification, issuance, verification, millionTokens, growth],
};
