#!/bin/sh
# Starts a PostgreSQL server with these arguments. A server without data copies the primary and follows it as a
# standby; after a failover it follows the new primary. With the argument `create`, the script creates the
# database instead: once, on one server.
#
# SERVER is the name of this server, PRIMARY is the connection string of libpq for the primary, and
# PGPASSWORD is the password in it.
set -eu
: "${PGDATA:?}" "${SERVER:?}" "${PRIMARY:?}" "${PGPASSWORD:?}" "${LIBRARY_PASSWORD:?}"

is_there_a_primary() {
    psql --no-psqlrc --quiet --dbname "$PRIMARY dbname=postgres" --command 'SELECT 1' >/dev/null 2>&1
}

create() {
    if is_there_a_primary; then
        echo "There is a primary already, so this server cannot create the database." >&2
        exit 1
    fi
    initdb --username=postgres --encoding=UTF8 --data-checksums --auth-local=trust --auth-host=scram-sha-256
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    echo 'host replication replication all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    # Nobody else reaches the server yet.
    pg_ctl start --wait --options="-c listen_addresses= -c unix_socket_directories=$PGDATA"
    psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --host "$PGDATA" --username postgres <<'SQL'
\set replication_password `printf %s "$PGPASSWORD"`
\set library_password `printf %s "$LIBRARY_PASSWORD"`
CREATE ROLE replication LOGIN REPLICATION PASSWORD :'replication_password';
CREATE ROLE library LOGIN PASSWORD :'library_password';
CREATE DATABASE library OWNER library;
CREATE DATABASE library_keys OWNER library;
SQL
    pg_ctl stop --wait
}

copy_primary() {
    until is_there_a_primary; do
        echo "$SERVER waits for a primary to copy; the argument 'create' creates the database" >&2
        sleep 2
    done
    # An interrupted copy must not be mistaken for a database.
    rm -rf "$PGDATA.copy"
    pg_basebackup --dbname "$PRIMARY" --pgdata "$PGDATA.copy" --write-recovery-conf --checkpoint=fast
    mv "$PGDATA.copy" "$PGDATA"
}

if [ "${1:-}" = create ]; then
    create
    exit
fi
if [ ! -e "$PGDATA" ]; then
    copy_primary
elif [ ! -e "$PGDATA/standby.signal" ] && is_there_a_primary; then
    echo "There is another primary, and this server was one, too. Remove its data and start it again: it copies" \
        "the other primary and becomes a standby." >&2
    exit 1
fi
# A standby connects under the name of its cluster, which the list of synchronous standbys contains.
exec postgres -c cluster_name="$SERVER" "$@"
