import { AppError } from '@platform/service-kit';

/** A dangerous act whose member has not just authenticated (AUTH-41). */
export class ConfirmationRequired extends AppError {
  constructor() {
    super({
      status: 403,
      code: 'CONFIRMATION_REQUIRED',
      message: 'Confirm that it is you: enter your password again, or sign in again',
    });
  }
}
