import { text } from '#text/shared';
import { Link } from '@tanstack/react-router';
import { useMe } from '../api/me.ts';
import { screenGroups } from '../screens.ts';

const labelled = screenGroups.flatMap(({ screens }) => screens).filter(({ label }) => label !== undefined);

/** Tells whether the navigation has another screen below this path. */
const hasBelow = (path: string): boolean =>
  path === '/' || labelled.some((other) => other.path.startsWith(`${path}/`));

export function Navigation() {
  const isAdmin = useMe().role === 'admin';
  const groups = screenGroups.map(({ label, screens }) => ({
    label,
    screens: screens.filter((screen) => screen.label !== undefined && (isAdmin || !screen.isForAdmins)),
  }));
  return (
    <nav aria-label={text.navigation.label}>
      {groups
        .filter(({ screens }) => screens.length > 0)
        .map(({ label, screens }) => (
          <div key={label} className="group">
            <h2>{label}</h2>
            <ul>
              {screens.map((screen) => (
                <li key={screen.path}>
                  <Link to={screen.path} activeOptions={{ exact: hasBelow(screen.path) }}>
                    {screen.label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
    </nav>
  );
}
