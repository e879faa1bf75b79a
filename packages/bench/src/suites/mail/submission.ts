/** How both sides submit mails: over STARTTLS with a checked certificate, with AUTH. */
export const smtp = {
  host: '127.0.0.1',
  fromEmail: 'noreply@corp.example',
  username: 'bench',
  password: 'password-of-the-sink',
  tls: 'starttls',
} as const;

/** What the service is asked to send. */
export const letter = {
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['to@example.com'],
  subject: 'Your code',
  templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
};
