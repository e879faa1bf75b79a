import { signIn } from '#text/sign-in';
import { useState } from 'react';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { RadioCards } from '../../ui/fields.tsx';
import { type ChangeProps, saveSettings } from './settings.ts';

const t = signIn.secondFactor;

type Sessions = 'keep' | 'end';
const choices = (['keep', 'end'] as const).map((key) => ({ key, ...t.choices[key] }));

/** Requires a second factor of every member, or no longer. */
export function ChangeFactor(props: ChangeProps) {
  // What was asked stays, even if the settings are read again meanwhile.
  const [isRequired] = useState(props.settings.secondFactorRequired);
  return isRequired ? <ReleaseFactor {...props} /> : <RequireFactor {...props} />;
}

function RequireFactor({ settings: { codesEnabled }, onClose }: ChangeProps) {
  const [sessions, setSessions] = useState<Sessions>('keep');
  return (
    <ActionDialog
      title={t.requireTitle}
      action={t.requireSubmit}
      changes={['sign-in']}
      act={() => saveSettings({ codesEnabled, secondFactorRequired: true, endSessions: sessions === 'end' })}
      describe={({ endedCount }) => t.nowRequired(endedCount)}
      onClose={onClose}
    >
      <p>{t.requireHint}</p>
      <RadioCards<Sessions> label={t.sessions} value={sessions} options={choices} onChange={setSessions} />
    </ActionDialog>
  );
}

/** Lets members sign in without a second factor. */
const ReleaseFactor = ({ settings: { codesEnabled }, onClose }: ChangeProps) => (
  <ActionDialog
    title={t.releaseTitle}
    action={t.releaseSubmit}
    isDangerous
    changes={['sign-in']}
    act={() => saveSettings({ codesEnabled, secondFactorRequired: false })}
    describe={() => t.nowOptional}
    onClose={onClose}
  >
    <p>{t.releaseWarning}</p>
  </ActionDialog>
);
