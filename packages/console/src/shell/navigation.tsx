import { text } from '#text/shared';
import { Link, useLocation } from '@tanstack/react-router';
import { useMe } from '../api/me.ts';
import { findView, listViews, placeGroups } from '../screens.ts';

export function Navigation() {
  const { role } = useMe();
  const current = findView(useLocation().pathname)?.place;
  const groups = placeGroups.map(({ label, places }) => ({
    label,
    lines: places
      .filter(({ isInMenu }) => !isInMenu)
      .map((place) => ({ place, first: listViews(place, role)[0] })),
  }));
  return (
    <nav aria-label={text.navigation.label}>
      {groups
        .filter(({ lines }) => lines.some(({ first }) => first))
        .map(({ label, lines }) => (
          <div key={label ?? ''} className="group">
            {label !== undefined && <h2>{label}</h2>}
            <ul>
              {lines.map(
                ({ place, first }) =>
                  first && (
                    <li key={place.label}>
                      <Link to={first.path} className={place === current ? 'here' : ''}>
                        <place.icon />
                        {place.label}
                      </Link>
                    </li>
                  ),
              )}
            </ul>
          </div>
        ))}
    </nav>
  );
}
