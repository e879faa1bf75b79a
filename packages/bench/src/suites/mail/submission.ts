/** Both sides submit mails over STARTTLS with a verified certificate and AUTH. */
export const smtp = {
  host: '127.0.0.1',
  fromEmail: 'noreply@corp.example',
  username: 'bench',
  password: 'password-of-the-sink',
  tls: 'starttls',
} as const;

/** The request body of a mail. */
export type Letter = typeof letter;
export const letter = {
  emailTemplateType: 'loginWithOTP',
  sendEmailTo: ['to@example.com'],
  subject: 'Your code',
  templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
};
