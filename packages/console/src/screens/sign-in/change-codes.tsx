import { signIn } from '#text/sign-in';
import { useState } from 'react';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { type ChangeProps, saveSettings } from './settings.ts';

const t = signIn.codes;

/** Switches codes by mail on or off. */
export function ChangeCodes({ settings, onClose }: ChangeProps) {
  // What was asked stays, even if the settings are read again meanwhile.
  const [codesEnabled] = useState(!settings.codesEnabled);
  return (
    <ActionDialog
      title={codesEnabled ? t.enableTitle : t.disableTitle}
      action={codesEnabled ? t.enableSubmit : t.disableSubmit}
      changes={['sign-in']}
      act={() => saveSettings({ codesEnabled })}
      describe={() => (codesEnabled ? t.enabled : t.disabled)}
      onClose={onClose}
    >
      <p>{codesEnabled ? t.enableHint : t.disableHint}</p>
    </ActionDialog>
  );
}
