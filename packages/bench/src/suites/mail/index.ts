import type { Suite } from '../../runner/measurement.js';
import { largeMail } from './large-mail.js';
import { memory } from './memory.js';
import { dueGrowth, queueGrowth } from './queue-growth.js';
import { sends } from './sends.js';

export const mailSuite: Suite = {
  name: 'mail',
  title: 'template mails through the API, against nodemailer alone',
  isPinned: true,
  measurements: [sends, queueGrowth, dueGrowth, largeMail, memory],
};
