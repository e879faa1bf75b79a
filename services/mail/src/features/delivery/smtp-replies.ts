/*
 * What the replies of SMTP servers mean. Servers combine reply codes and enhanced status codes as they like, so both are read
 * tolerantly. Where two of them contradict each other, the reading that does less harm counts: a temporary failure is tried
 * again, and an address is not suppressed.
 */

/** A reply without the server's text. */
export interface ReplyCodes {
  /** The reply code (RFC 5321 §4.2). */
  readonly reply?: number | undefined;
  /** The enhanced status code (RFC 3463). */
  readonly status?: string | undefined;
}

/**
 * - `gone`: no later mail to the recipient will arrive.
 * - `goneIfReported`: the same, when a provider reports it as a permanent bounce. In a reply to RCPT TO, servers also use it
 *   for rules about the sender.
 * - `temporary`: it may be accepted later, although the class of the code says that it won't.
 * - `tooManyRecipients`: it may be accepted in a further transaction.
 */
type Meaning = 'gone' | 'goneIfReported' | 'temporary' | 'tooManyRecipients';

/** The statuses that are more, or less, than a permanent refusal. Their registry: IANA, SMTP Enhanced Status Codes. */
const statuses: Readonly<Record<string, Meaning>> = {
  '5.0.0': 'goneIfReported', // RFC 3463 §3.1, undefined; Amazon SES reports permanent bounces with it
  '5.1.0': 'goneIfReported', // RFC 3463 §3.2, other address status; Exchange and Yahoo use it for unknown recipients
  '5.1.1': 'gone', // RFC 3463 §3.2, no such mailbox
  '5.1.2': 'gone', // RFC 3463 §3.2, no such system
  '5.1.3': 'goneIfReported', // RFC 3463 §3.2, the syntax of the address
  '5.1.6': 'goneIfReported', // RFC 3463 §3.2, the mailbox has moved without a forwarding address
  '5.1.10': 'gone', // RFC 7505 §4.2, the domain takes no mail
  '5.2.1': 'gone', // RFC 3463 §3.3, a disabled mailbox
  '5.2.2': 'temporary', // RFC 3463 §3.3, a full mailbox
  '5.3.1': 'temporary', // RFC 3463 §3.4, a full system
  '5.3.2': 'temporary', // RFC 3463 §3.4, a system that is not accepting mail for now
  '5.4.1': 'goneIfReported', // Exchange Online: the recipient is not in the directory of the domain; RFC 3463 §3.5, no answer
  '5.4.4': 'goneIfReported', // RFC 3463 §3.5, unable to route; Postfix: the domain does not exist
  '5.4.310': 'goneIfReported', // Exchange Online: the domain does not exist in DNS
  '5.5.3': 'tooManyRecipients', // RFC 3463 §3.6, as 552 below
  '4.5.3': 'tooManyRecipients',
};

/** The same for reply codes: `temporary` with any status, the others without one. */
const replies: Readonly<Record<number, Meaning>> = {
  452: 'tooManyRecipients', // RFC 5321 §4.5.3.1.10
  530: 'temporary', // RFC 4954 §6: the server requires a login, so the configuration is at fault and not the mail
  552: 'tooManyRecipients', // RFC 5321 §4.5.3.1.10, formerly of 452; or a full mailbox
};

/** The text of a 552 without a status about the message itself, which no repetition makes smaller: RFC 1870 §6.1; Exim. */
const tooLarge = /message size exceeds (?:fixed )?maximum|message (?:is )?too (?:big|large)/i;
const TOO_LARGE_STATUS = '5.3.4';

const STATUS = String.raw`([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)`;
/** Any line can begin with the status: RFC 2034 §4, and in the field `550 #5.1.1`, `550 [5.1.1]`, `550 5.1.1:`. */
const leadingStatus = new RegExp(String.raw`^(?:\d{3}[ -])?[ \t]*[#([<]*${STATUS}`, 'gm');
/** Elsewhere, a status has to be marked, as by qmail: `550 no such user (#5.1.1)`. Other numbers may be versions or addresses. */
const markedStatus = new RegExp(String.raw`#${STATUS}|[([]${STATUS}[)\]]`, 'g');

const isTemporaryClass = (status: string): boolean => status.startsWith('4.');

/** Finds the enhanced status code in a reply of one or more lines, or in what a provider reports. */
function findStatus(text: string): string | undefined {
  const found = [leadingStatus, markedStatus].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(([, first, second]) => first ?? second ?? []),
  );
  return found.find(isTemporaryClass) ?? found.find((status) => statuses[status] !== 'gone') ?? found[0];
}

/** Reads a reply. The status of a temporary reply is left out where it is permanent. */
export function readReply(text: string): ReplyCodes {
  const code = /^\d{3}/.exec(text)?.[0];
  const reply = code === undefined ? undefined : Number(code);
  const status = findStatus(text) ?? (reply === 552 && tooLarge.test(text) ? TOO_LARGE_STATUS : undefined);
  return { reply, status: code?.startsWith('4') && !isTemporaryClass(status ?? '4.') ? undefined : status };
}

function toMeaning({ reply = 0, status }: ReplyCodes): Meaning | undefined {
  const ofReply = replies[reply];
  return status === undefined || ofReply === 'temporary' ? ofReply : statuses[status];
}

/** Returns whether the server refuses for good what the command was about. */
export function isPermanentReply(codes: ReplyCodes): boolean {
  const meaning = toMeaning(codes);
  if (meaning === 'temporary' || meaning === 'tooManyRecipients') return false;
  return codes.status === undefined ? (codes.reply ?? 0) >= 500 : codes.status.startsWith('5.');
}

/** Returns whether the server asks to try the same thing again soon. */
export const isTransientReply = ({ reply = 0, status }: ReplyCodes): boolean =>
  status === undefined ? reply >= 400 && reply < 500 : isTemporaryClass(status);

/** Returns whether a further transaction at once may succeed for a recipient, after others were accepted in this one. */
export const isTooManyRecipients = (codes: ReplyCodes): boolean => toMeaning(codes) === 'tooManyRecipients';

/** Returns whether mails to a recipient that an SMTP server refused with this status are pointless. */
export const isGone = (status: string): boolean => statuses[status] === 'gone';

/** Returns whether mails to a recipient are pointless, whose permanent bounce a provider reports with this status. */
export const isGoneIfReported = (status: string): boolean =>
  isGone(status) || statuses[status] === 'goneIfReported';
