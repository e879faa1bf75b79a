/** The path of the authorization server below `PUBLIC_URL`. */
export const ISSUER_PATH = '/oauth2';
export const CONSENT_PATH = `${ISSUER_PATH}/consent`;
