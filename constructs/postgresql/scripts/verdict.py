"""Whether and as what a member may start: a pure function from what is there. The rule that it holds: there is never a second initdb."""

from identity import IDENTITY


def judge(ordinal, local, claims, own, initialize, has_configuration):
    """(verdict, reason, message): start, initialise, clone, or hold.

    local: identity of the data here, None where there is none. claims: identities on all claims of the database.
    own: identity on this member's claim. initialize: Patroni's record, "" while an initialisation is under way.
    """
    known = sorted(set(claims) | ({initialize} if initialize else set()))
    if local:
        if own and own != local:
            return (
                "hold",
                "ForeignData",
                f"the volume holds database {local}, but its claim says {own}: bind the right volume, or correct the annotation {IDENTITY} of the claim",
            )
        if known and local not in known:
            return (
                "hold",
                "ForeignData",
                f"the volume holds database {local}, but this database is {' or '.join(known)}: bind the right volume, or delete this member's claim to have it cloned",
            )
        return ("start", "DataPresent", f"database {local}")
    if len(known) > 1:
        return (
            "hold",
            "IdentityConflict",
            f"the claims of this database hold different data ({', '.join(known)}): delete the claims that do not belong to it",
        )
    if known:
        return ("clone", "WaitingForLeader", f"no data here; database {known[0]} is cloned from its leader")
    if not has_configuration:
        return ("hold", "ConfigurationMissing", "Patroni's configuration is not there yet")
    if ordinal == 0:
        return ("initialise", "FirstStart", "no member has data: a new database is initialised")
    return ("clone", "WaitingForLeader", "no data here; it is cloned once member 0 has initialised the database")
