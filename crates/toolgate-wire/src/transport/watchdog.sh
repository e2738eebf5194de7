# Ends the process groups of servers when the host is gone. Its input is a pipe that only the host can write to:
# `+GROUP` and `-GROUP` say which groups there are, `!NUMBER` that one is being started and with which mark, `?` that one may have ended
# unseen. The end of the input is the end of the host.
trap '' INT TERM HUP
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
groups=' '
expected=
enter() { case $groups in *" $1 "*) ;; *) groups="$groups$1 " ;; esac; }
# Keeps the groups that take a signal; 0 only asks whether they are there.
signal() {
  reached=' '
  for group in $groups; do kill "$1" "-$group" && reached="$reached$group "; done
  groups=$reached
}
# The one that was being started when the host went leads its group, and carries its mark as soon as it runs a program of its own.
look() {
  [ "$expected" ] || return
  for process in $(grep -lsxzF "$mark$expected" /proc/[0-9]*/environ); do
    process=${process#/proc/}
    enter "${process%/environ}"
  done
}
while read -r line; do
  number=${line#?}
  case $line in
    +1 | +0* | ?*[!0-9]*) ;; # Would mean everybody, or nobody.
    +*) expected= && enter "$number" ;;
    -*) case $groups in *" $number "*) groups="${groups%% $number *} ${groups#* $number }" ;; esac ;;
    !?*) expected=$number ;;
    *) expected= && signal -0 ;;
  esac
done
look
signal -TERM
[ "$groups$expected" = ' ' ] && exit
# Nobody is to be left two seconds after the host. Not every system knows parts of a second.
sleep 0.5 || sleep 1
look
signal -KILL
