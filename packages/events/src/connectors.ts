/** Every connector, and the event that a completed crawl of it publishes. */
const eventTypeByConnector = {
  mail_1: 'SyncMail1Event',
  mail_2: 'SyncMail2Event',
  files_1: 'SyncFiles1Event',
  files_2: 'SyncFiles2Event',
  files_3: 'SyncFiles3Event',
  files_4: 'SyncFiles4Event',
  files_5: 'SyncFiles5Event',
  wiki_1: 'ReindexAllRecordEvent',
  chat_1: 'ReindexAllRecordEvent',
  issues_1: 'SyncIssues1Event',
  issues_2: 'SyncIssues2Event',
  suite_1: 'SyncSuite1Event',
  code_1: 'SyncCode1Event',
  objects_1: 'SyncObjects1Event',
  cloud_1: 'SyncCloud1Event',
  db_1: 'SyncDb1Event',
  support_1: 'SyncSupport1Event',
  support_2: 'SyncSupport2Event',
} as const;

/** The canonical identifier of a connector: lower case, no spaces. */
export type Connector = keyof typeof eventTypeByConnector;
export type SyncEventType = (typeof eventTypeByConnector)[Connector];

/** The instance of a connector of which an organisation has but one. */
export const DEFAULT_INSTANCE = 'default';

/** All connectors, in the order in which they are shown. */
export const connectors = Object.freeze(Object.keys(eventTypeByConnector) as Connector[]);

export const isConnector = (text: string): text is Connector => Object.hasOwn(eventTypeByConnector, text);

/** Connectors without a specific event request that everything is indexed again. */
export const toEventType = (connector: Connector): SyncEventType => eventTypeByConnector[connector];
