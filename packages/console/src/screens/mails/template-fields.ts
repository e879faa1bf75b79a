/** The fields that each template shows; the API names them in the same way. */
export const fieldsOf = {
  appuserInvite: ['userName', 'companyName', 'invitedBy', 'inviteLink', 'validFor'],
  accountCreation: ['userName', 'companyName', 'loginLink'],
  loginWithOTP: ['userName', 'companyName', 'otp', 'validFor'],
  resetPassword: ['userName', 'companyName', 'resetLink', 'validFor', 'time', 'device'],
  suspiciousLoginAttempt: ['userName', 'companyName', 'time', 'device', 'location', 'ipAddress', 'resetLink'],
} as const;

export type TemplateType = keyof typeof fieldsOf;
export const templateTypes = Object.keys(fieldsOf) as TemplateType[];
