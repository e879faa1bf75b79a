// Facts alone, for services that have nothing to do with Kafka. Anything exported here is public.
export {
  AuditEntry,
  factContracts,
  MAX_AUDITED_AGENT_LENGTH,
  MAX_AUDITED_VALUE_LENGTH,
  OPERATOR_ACTION,
  ReportedFact,
} from './contracts.js';
export {
  type AuditType,
  expandFactTypes,
  type FactEvent,
  type FactType,
  factTypes,
  isAuditType,
} from './event.js';
export {
  factReportsSql,
  insertCommandReports,
  insertFactReportsOf,
  insertFactsOf,
  toIsoTime,
} from './sql.js';
export { explainProblem, describeProblem, isCertificateFault, type SmtpProblem } from './mail-problem.js';
export { CRAWL_FACTS_SCOPE, FACTS_PATH, MAIL_FACTS_SCOPE, MAX_FACTS } from './protocol.js';
export { createFactSender, startFactSender } from './sender.js';
