// Facts alone, for services that have nothing to do with Kafka. Anything exported here is public.
export {
  AuditEntry,
  factContracts,
  MAX_AUDITED_AGENT_LENGTH,
  MAX_AUDITED_VALUE_LENGTH,
  OPERATOR_ACTION,
  ReportedFact,
} from './fact-contracts.js';
export {
  type AuditType,
  expandFactTypes,
  type FactEvent,
  type FactType,
  factTypes,
  isAuditType,
} from './fact-event.js';
export { factReportsSql, insertFactReportsOf, insertFactsOf, toIsoTime } from './fact-sql.js';
