import { type Answer, callUrl, type CallOptions } from '@platform/testing';

/** Calls a service. @throws when the response is an error. */
export async function succeed(url: string, method: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await callUrl(url, method, options);
  if (answer.status >= 400) throw new Error(`${method} ${url} answered ${answer.status}: ${answer.text}`);
  return answer;
}
