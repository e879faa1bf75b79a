import { useEffect, useRef, useState } from 'react';

const DARK = /\(prefers-color-scheme: ?dark\)/g;

interface MailFrameProps {
  readonly title: string;
  readonly html: string;
  readonly isDark: boolean;
  readonly isPhone: boolean;
}

/** A mail as a mail program shows it, in a sandboxed frame: it runs no script, and its links lead nowhere. */
export function MailFrame({ title, html, isDark, isPhone }: MailFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  // Mails ask the program for its theme; here the person chooses it.
  const themed = html.replaceAll(DARK, isDark ? 'all' : 'not all');
  // Until then the frame is an empty page under the console's own policy, which lets nothing be written.
  const [isLoaded, setLoaded] = useState(false);
  useEffect(() => {
    const root = frame.current?.contentDocument?.documentElement;
    if (isLoaded && root) root.innerHTML = themed;
  }, [isLoaded, themed]);
  return (
    <iframe
      ref={frame}
      className={isPhone ? 'mail-frame phone' : 'mail-frame'}
      title={title}
      src="/mails/frame"
      sandbox="allow-same-origin"
      onLoad={() => setLoaded(true)}
    />
  );
}
