import type { IdentitySchemas, MailSchemas } from '@platform/clients/types';

export type MailRecord = MailSchemas['schemas']['MailRecord'];
export type Suppression = MailSchemas['schemas']['Suppression'];
export type Smtp = IdentitySchemas['schemas']['SmtpConfig'];
export type SmtpAuth = IdentitySchemas['schemas']['SmtpAuth'];
