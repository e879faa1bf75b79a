import { errorPage } from '../../sign-in/page-kit/error-page.js';
import { html } from '../../sign-in/page-kit/html.js';
import type { Page } from '../../sign-in/page-kit/page.js';

interface Explanation {
  readonly what: string;
  /** Who can mend it, and how. */
  readonly advice: string;
}

const explanations: Readonly<Record<string, Explanation>> = {
  invalid_client: {
    what: 'The application that sent you here is not known to this platform.',
    advice:
      'Connect it again from within the application: it may have been removed here, or keep an old registration. If that does not help, whoever runs the application has to register it.',
  },
  invalid_redirect_uri: {
    what: 'The application wants the answer at an address that it has not registered.',
    advice:
      'Whoever runs the application has to register that address, or to use the one that is registered.',
  },
  temporarily_unavailable: {
    what: 'The platform cannot answer at the moment.',
    advice: 'Nobody has to do anything: wait a minute, then connect the application again.',
  },
  server_error: {
    what: 'The platform failed to answer.',
    advice: 'Tell the operator of the platform the request id: it leads to the reason.',
  },
};
const other: Explanation = {
  what: 'The application sent you here with a request that cannot be answered, or you have been away from it for too long.',
  advice:
    'Go back to the application and connect it again. If that does not help, whoever made the application has to correct its request.',
};

/** The page of an authorization that ends here, since nothing can be sent back to the application. */
export function connectionErrorPage(error: string, description: string | undefined, requestId: string): Page {
  const { what, advice } = explanations[error] ?? other;
  const detail = description === undefined ? error : `${error}: ${description}`;
  return errorPage({
    title: 'The application could not be connected',
    what: html`${what}<br /><code>${detail}</code>`,
    advice,
    requestId,
  });
}
